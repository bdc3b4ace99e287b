// The what-if box: one kind of change to the fleet, the demand or the policies, or a file of changes, and how the decision
// would differ. The shard computes the answer on a copy of the fleet; nothing is executed.

import { useEffect, useRef, useState } from 'preact/hooks';
import { CHANGES, questionOf, type WhatIfAbout, type WhatIfField } from '../../what-if-question.ts';
import { answerLists, answerTexts, type WhatIfAnswer } from '../../what-if-text.ts';
import { postWhileBusy } from '../api.ts';
import { html, type VNode } from '../html.ts';
import { Linked } from '../linked.ts';
import { Lines, restText, Section } from '../parts.ts';

interface Asked {
  readonly isBusy: boolean;
  /** Why the shard does not answer yet; '' unless it was asked again. */
  readonly waiting: string;
  readonly error: string;
  readonly answer: WhatIfAnswer | null;
}

const NOT_ASKED: Asked = { isBusy: false, waiting: '', error: '', answer: null };
/** The shard accepts no longer question. */
const MAX_BYTES = 60_000;

export function WhatIf({ about }: { readonly about: WhatIfAbout }): VNode {
  const [name, setName] = useState(CHANGES[0]!.name);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [settle, setSettle] = useState(false);
  const { asked, ask } = useQuestion();
  const { fields } = CHANGES.find((each) => each.name === name)!;
  const submit = (event: Event): void => {
    event.preventDefault();
    const question = questionOf(name, values, about);
    void ask(typeof question === 'string' ? question : { ...question, settle });
  };
  const set = (field: string, value: string): void => setValues((before) => ({ ...before, [field]: value }));
  return html`<${Section} id="what-if" title="What if" kind="wide">
    <form id="what-if-form" class="filters" onSubmit=${submit}>
      <label><span>Suppose that</span>
        <select name="change" onChange=${(event: Event) => setName((event.target as HTMLSelectElement).value)}>
          ${CHANGES.map((each) => html`<option value=${each.name} selected=${each.name === name}>${each.label}</option>`)}
        </select>
      </label>
      ${fields.map((field) => html`<${ChangeField} key=${field.name} field=${field} value=${values[field.name]} set=${set} />`)}
      <label class="check">
        <input type="checkbox" name="settle" checked=${settle} onChange=${() => setSettle(!settle)} />
        <span>until it settles</span>
      </label>
      <button type="submit" disabled=${asked.isBusy}>${asked.isBusy ? 'Deciding' : 'Decide'}</button>
    </form>
    <div role="status" aria-busy=${asked.isBusy}>${answerView(asked)}</div>
  <//>`;
}

/** One question at a time; it is no longer asked when its page is left. */
function useQuestion() {
  const [asked, setAsked] = useState<Asked>(NOT_ASKED);
  const leaving = useRef<AbortController | null>(null);
  leaving.current ??= new AbortController();
  const { signal } = leaving.current;
  useEffect(() => () => leaving.current?.abort(), []);
  /** A text is shown as what is wrong with the fields. */
  const ask = async (question: object | string): Promise<void> => {
    if (typeof question === 'string') {
      setAsked({ ...NOT_ASKED, error: question });
      return;
    }
    setAsked({ ...NOT_ASKED, isBusy: true });
    try {
      const onBusy = (waiting: string): void => setAsked({ ...NOT_ASKED, isBusy: true, waiting });
      const answer = await postWhileBusy<WhatIfAnswer>('/v1/whatif', question, { onBusy, signal });
      setAsked({ ...NOT_ASKED, answer });
    } catch (error) {
      setAsked({ ...NOT_ASKED, error: (error as Error).message });
    }
  };
  return { asked, ask };
}

interface ChangeFieldProps {
  readonly field: WhatIfField;
  readonly value: string | undefined;
  readonly set: (name: string, value: string) => void;
}

function ChangeField({ field, value = '', set }: ChangeFieldProps): VNode {
  const { name, label, hint = '', choices, isDocument } = field;
  const changed = (event: Event): void => set(name, (event.target as HTMLInputElement).value);
  if (choices !== undefined)
    return html`<label><span>${label}</span>
      <select name=${name} onChange=${changed}>
        ${choices.map((choice) => html`<option value=${choice} selected=${choice === value}>${choice}</option>`)}
      </select>
    </label>`;
  if (isDocument === true) return html`<${DocumentField} field=${field} value=${value} set=${set} />`;
  return html`<label><span>${label}</span>
    <input name=${name} value=${value} placeholder=${hint} autocomplete="off" spellcheck=${false} onInput=${changed} />
  </label>`;
}

/** A text that is pasted, or read from a file of the reader; the file itself is not sent. */
function DocumentField({ field: { name, label, hint }, value = '', set }: ChangeFieldProps): VNode {
  const [trouble, setTrouble] = useState('');
  const chosen = async (event: Event): Promise<void> => {
    const [file] = (event.target as HTMLInputElement).files ?? [];
    if (file === undefined) return;
    const isSmall = file.size <= MAX_BYTES;
    setTrouble(isSmall ? '' : `${file.name} is too large for a question: at most ${MAX_BYTES / 1000} kB.`);
    if (isSmall) set(name, await file.text());
  };
  return html`<div class="document">
    <label><span>${label}</span>
      <textarea name=${name} rows="6" value=${value} placeholder=${hint} spellcheck=${false}
        onInput=${(event: Event) => set(name, (event.target as HTMLTextAreaElement).value)}></textarea>
    </label>
    <label><span>Or from a file</span>
      <input type="file" name="file" accept=".json,application/json" onChange=${chosen} />
    </label>
    ${trouble === '' ? null : html`<p class="failed">${trouble}</p>`}
  </div>`;
}

export function answerView({ waiting, error, answer }: Asked): VNode | null {
  if (waiting !== '') return html`<p class="doing" id="what-if-waiting">${waiting} The page asks again.</p>`;
  if (error !== '') return html`<p class="failed said" id="what-if-error">${error}</p>`;
  if (answer === null) return null;
  return html`<div>
    <${Lines} id="what-if-answer" lines=${answerTexts(answer).map((text) => ({ text }))} empty="" />
    ${answerLists(answer).map(
      ({ title, mood, total, items }) =>
        html`<h3>${title}</h3>
          <${Lines} lines=${items.map(({ text, names }) => ({ mood, text: html`<${Linked} text=${text} names=${names} />` }))}
            empty="" rest=${restText(items.length, total, 'item', 'in the order of the decision')} />`,
    )}
    <p class="quiet">Nothing was executed.</p>
  </div>`;
}
