// Sentences of the live views with links at the names in them.

import type { Action } from '../feed.ts';
import { linkedParts, type Names, namesOf } from '../linked-text.ts';
import { actionText } from '../sentences.ts';
import { html, type VNode } from './html.ts';

export function Linked({ text, names }: { readonly text: string; readonly names: Names }): VNode {
  return html`<span>
    ${linkedParts(text, names).map((part) =>
      part.href === undefined ? part.text : html`<a href=${part.href}>${part.text}</a>`,
    )}
  </span>`;
}

export function ActionSentence({ action }: { readonly action: Action }): VNode {
  return html`<${Linked} text=${actionText(action).text} names=${namesOf(action)} />`;
}
