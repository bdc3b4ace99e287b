// The script of the login page: exchanges the token of the form for a cookie and loads the page that was asked for.

const form = document.querySelector('form')!;
const field = document.querySelector('input')!;
const button = document.querySelector('button')!;
const message = document.querySelector('#message')!;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  button.disabled = true;
  message.textContent = '';
  login(field.value.trim()).then(
    () => location.reload(),
    (error: Error) => {
      message.textContent = error.message;
      button.disabled = false;
      field.select();
    },
  );
});

async function login(token: string): Promise<void> {
  const response = await fetch('/v1/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  if (response.ok) return;
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  throw new Error(error.message);
}

/** A link on another site opens the page without its cookie (SameSite=Strict); loaded from here, it has it. */
async function retryOnce(): Promise<void> {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (navigation?.type !== 'reload' && (await fetch('/v1/whoami')).ok) location.reload();
}

void retryOnce();

export {};
