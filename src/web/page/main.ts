// The script of the dashboard, loaded by index.html: applies the theme, renders the frame, and follows the shard.

import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';
import { store } from './store.ts';
import { applyTheme } from './theme.ts';

applyTheme();
render(html`<${App} />`, document.getElementById('app')!);
store.start();
