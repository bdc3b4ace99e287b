// The script of the dashboard, loaded by index.html: applies the theme, renders the frame, and follows the shard.

import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';
import { store } from './store.ts';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('app')!;
// `render` keeps what is in the element: the text that index.html shows until this script runs.
root.replaceChildren();
render(html`<${App} />`, root);
store.start();
