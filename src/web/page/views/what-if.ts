// The what-if box: one change to the fleet or the demand, and how the decision would differ. The shard computes the answer
// on a copy of the fleet; nothing is executed. Shown where the shard has the route.

import { useState } from 'preact/hooks';
import { needLink } from '../../place.ts';
import {
  answerTexts,
  CHANGES,
  type ChangeName,
  questionOf,
  type WhatIfAbout,
  type WhatIfAnswer,
} from '../../what-if-text.ts';
import { post } from '../api.ts';
import { html, type VNode } from '../html.ts';
import { Lines, Section } from '../parts.ts';
import { useRoute } from '../requests.ts';

interface Asked {
  readonly isBusy: boolean;
  readonly error: string;
  readonly answer: WhatIfAnswer | null;
}

const NOT_ASKED: Asked = { isBusy: false, error: '', answer: null };

export function WhatIf({ about }: { readonly about: WhatIfAbout }): VNode | null {
  const has = useRoute('/v1/whatif');
  const [name, setName] = useState<ChangeName>('without-spot');
  const [value, setValue] = useState('');
  const [settle, setSettle] = useState(false);
  const [asked, setAsked] = useState<Asked>(NOT_ASKED);
  if (!has) return null;
  const change = CHANGES.find((each) => each.name === name)!;
  const field = 'field' in change ? change.field : null;
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const question = questionOf(name, value.trim(), about);
    if (typeof question === 'string') {
      setAsked({ ...NOT_ASKED, error: question });
      return;
    }
    setAsked({ ...NOT_ASKED, isBusy: true });
    try {
      const answer = await post<WhatIfAnswer>('/v1/whatif', { ...question, settle });
      setAsked({ isBusy: false, error: '', answer });
    } catch (error) {
      setAsked({ isBusy: false, error: (error as Error).message, answer: null });
    }
  };
  return html`<${Section} id="what-if" title="What if" kind="wide">
    <form id="what-if-form" class="filters" onSubmit=${ask}>
      <label><span>Suppose that</span>
        <select name="change" onChange=${(event: Event) => setName((event.target as HTMLSelectElement).value as ChangeName)}>
          ${CHANGES.map((each) => html`<option value=${each.name} selected=${each.name === name}>${each.label}</option>`)}
        </select>
      </label>
      ${
        field === null
          ? null
          : html`<label><span>Value</span>
              <input name="value" value=${value} placeholder=${field} autocomplete="off"
                onInput=${(event: Event) => setValue((event.target as HTMLInputElement).value)} />
            </label>`
      }
      <label class="check">
        <input type="checkbox" name="settle" checked=${settle} onChange=${() => setSettle(!settle)} />
        <span>until it settles</span>
      </label>
      <button type="submit" disabled=${asked.isBusy}>${asked.isBusy ? 'Deciding' : 'Decide'}</button>
    </form>
    <div role="status">${answerView(asked)}</div>
  <//>`;
}

export function answerView({ error, answer }: Asked): VNode | null {
  if (error !== '') return html`<p class="failed" id="what-if-error">${error}</p>`;
  if (answer === null) return null;
  const { unmet, met } = answer.verdicts;
  const named = (mood: string, words: string) => (item: (typeof unmet.items)[number]) => ({
    mood,
    text: html`<a href=${needLink(item.need.id)}>${item.need.id}</a> ${words}${item.why === null ? '' : `: ${item.why}`}`,
  });
  const lines = [
    ...answerTexts(answer).map((text) => ({ text })),
    ...unmet.items.map(named('failed', 'would no longer be met')),
    ...met.items.map(named('done', 'would be met')),
  ];
  return html`<${Lines} id="what-if-answer" lines=${lines} empty="" />`;
}
