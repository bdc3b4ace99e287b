// Light or dark: as the system prefers, or as the reader chose, which the browser remembers for this address.

import { useEffect, useState } from 'preact/hooks';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const KEY = 'bigfleet-theme';
const LABELS: Readonly<Record<Theme, string>> = { system: 'Auto', light: 'Light', dark: 'Dark' };

export function themeLabel(theme: Theme): string {
  return LABELS[theme];
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
}

/** Called before the first rendering, so that the page does not change its colours after it is shown. */
export function applyTheme(): void {
  const theme = savedTheme();
  const { documentElement } = document;
  if (theme === 'system') documentElement.removeAttribute('data-theme');
  else documentElement.setAttribute('data-theme', theme);
}

export function setTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is off: the choice holds until the page is loaded again.
    document.documentElement.setAttribute('data-theme', theme);
  }
  applyTheme();
  document.dispatchEvent(new CustomEvent('theme'));
}

export function useTheme(): Theme {
  const [theme, setShown] = useState<Theme>(savedTheme);
  useEffect(() => {
    const changed = (): void => setShown(savedTheme());
    document.addEventListener('theme', changed);
    return () => document.removeEventListener('theme', changed);
  }, []);
  return theme;
}

function savedTheme(): Theme {
  try {
    const saved = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === saved) ?? 'system';
  } catch {
    return 'system';
  }
}
