// Whether a provider's words mean that nothing is in stock. The contract has no code for it; clouds say it like this.

export function looksSoldOut(message: string): boolean {
  return /insufficient.{0,20}capacity|out of (stock|capacity)|stock-?out|sold out|no capacity|capacity.{0,20}(exhausted|unavailable)/i.test(
    message,
  );
}
