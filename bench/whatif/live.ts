export interface LiveResult {
  quiet: { p99: number };
  asked: { p99: number };
  answersMs: number[];
}
export async function measureLive(_profile: string, _seconds: number): Promise<LiveResult> {
  throw new Error('x');
}
