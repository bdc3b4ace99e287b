// The template function of the pages, and the types of what it makes. A template is JSX without a compiler: there is no
// build step (docs/adr/0050-preact-without-a-build-step.md).

export { html } from 'htm/preact';
export type { ComponentChildren, VNode } from 'preact';
