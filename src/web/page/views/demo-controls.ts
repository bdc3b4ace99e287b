// Buttons of the overview: the scenarios of a demo, and the freeze of the whole fleet.

import { isFrozen } from '../../live.ts';
import { DEMO_SCENARIOS } from '../../sentences.ts';
import { html, type VNode } from '../html.ts';
import { OrderButton, OrderNote } from '../orders.ts';
import { freeze, order, unfreeze } from '../requests.ts';
import type { PageState } from '../store.ts';

/** What happens after each demo scenario, and where to see it. */
export const WHAT_TO_WATCH: Readonly<Record<string, string>> = {
  'deploy-burst':
    'A deployment of one cluster grows. Watch unmet Needs rise for a moment, then machines being bound and bought for it.',
  'gpu-gang':
    'A training job asks for many accelerators in one domain at once. Watch the Need wait until a domain can hold all of it.',
  'spot-wave':
    'A cloud takes back many spot machines. Watch the losses, and their work moving to machines that others can spare.',
  'zone-outage':
    'All machines of one zone fail. Watch the zone go dark, Needs moving to other zones, and recovery after the zone is back.',
};

/** Whether this page is that of `bigfleet up`. */
export function isDemo(): boolean {
  return document.documentElement.hasAttribute('data-demo');
}

export function DemoControls({ state }: { readonly state: PageState }): VNode {
  const { live, trouble } = state;
  const isOff = trouble !== '' || live.status === null;
  const frozen = isFrozen(live);
  return html`<div id="controls" role="group" aria-label="Demo scenarios and freeze">
    ${(isDemo() ? DEMO_SCENARIOS : []).map(
      ({ name, label }) =>
        html`<${OrderButton} data-scenario=${name} disabled=${isOff} title=${WHAT_TO_WATCH[name]}
          run=${() => order(`/up/stories/${name}`)}>${label.charAt(0).toUpperCase() + label.slice(1)}<//>`,
    )}
    <${OrderButton} data-freeze=${frozen ? 'off' : 'on'} disabled=${isOff}
      run=${() => (frozen ? unfreeze('fleet') : freeze({}, 'button on the page'))}>
      ${frozen ? 'Unfreeze the fleet' : 'Freeze the fleet'}
    <//>
    <${OrderNote} />
  </div>`;
}
