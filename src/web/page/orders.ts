// Buttons that order something of the shard. A caller who may only view sees them disabled, with a sentence why, because
// the shard would refuse the order.

import { type ComponentChildren, html, type VNode } from './html.ts';
import { store } from './store.ts';

/** Also true while the caller is not known: the shard decides in any case. */
function mayOrder(): boolean {
  return store.state.caller?.role !== 'view';
}

interface OrderButtonProps {
  /** Sends the order; absent for the button of a form. */
  readonly run?: () => Promise<void>;
  readonly disabled?: boolean;
  readonly children?: ComponentChildren;
  /** Further attributes, such as `title` and `data-order`. */
  readonly [attribute: string]: unknown;
}

export function OrderButton({ run, disabled, children, ...attributes }: OrderButtonProps): VNode {
  return html`<button type=${run === undefined ? 'submit' : 'button'} ...${attributes}
    disabled=${disabled === true || !mayOrder()} onClick=${run === undefined ? undefined : () => void run()}>${children}</button>`;
}

/** Why the buttons beside it are disabled. */
export function OrderNote(): VNode | null {
  if (mayOrder()) return null;
  return html`<p class="quiet" data-note="view-only">
    ${store.state.caller?.name ?? 'This login'} may view and not order, so these buttons are off. Orders need a token
    with the role operate, or a certificate of an administrator.
  </p>`;
}
