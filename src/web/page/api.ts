// Requests to the API of the shard. A refusal becomes an error with the message of the shard.

interface ErrorBody {
  readonly error?: { readonly message: string };
}

export async function read<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (response.ok) return (await response.json()) as T;
  throw new Error(await refusalOf(response));
}

async function refusalOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  return body.error?.message ?? `The shard answered with ${response.status}.`;
}

export async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  if (response.ok) return (await response.json()) as T;
  throw new Error(await refusalOf(response));
}

export async function remove<T>(path: string): Promise<T> {
  const response = await fetch(path, { method: 'DELETE' });
  if (response.ok) return (await response.json()) as T;
  throw new Error(await refusalOf(response));
}
