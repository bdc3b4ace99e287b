// A certificate authority that issues valid certificates and certificates with every kind of defect. Used by kit.ts,
// certificates.test.ts and bench/hostile.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Issued, issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import type { TlsFiles } from '../../src/wire/index.ts';

const VALID = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const PAST = { notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') };

/** Writes leaf certificates signed by it into a directory. */
export class Authority {
  readonly #dir: string;
  readonly #name: string;
  readonly #pair: Issued;
  #made = 0;

  constructor(dir: string, name = 'ours') {
    this.#dir = dir;
    this.#name = name;
    this.#pair = makeAuthority({ name, ...VALID });
  }

  /** `trusts`: the authority whose certificates the holder accepts. */
  files(uris: readonly string[], trusts: Authority = this, valid: Partial<typeof VALID> = {}): TlsFiles {
    const leaf = issueCertificate(this.#pair, {
      name: 'leaf',
      uris,
      ipAddresses: ['127.0.0.1'],
      ...VALID,
      ...valid,
    });
    const write = (kind: string, text: string): string => {
      const path = join(this.#dir, `${this.#name}-${this.#made++}-${kind}`);
      writeFileSync(path, text);
      return path;
    };
    return {
      cert: write('cert', leaf.certificate),
      key: write('key', leaf.key),
      ca: write('ca', trusts.#pair.certificate),
    };
  }
}

/** Certificates that must not be accepted for the cluster `web`, by their defect. */
export function wrongFiles(ours: Authority, theirs: Authority): Readonly<Record<string, TlsFiles>> {
  return {
    'cluster/other': ours.files(['bigfleet://cluster/other']),
    'shard/shard-0': ours.files(['bigfleet://shard/shard-0']),
    'provider/cloud': ours.files(['bigfleet://provider/cloud']),
    admin: ours.files(['bigfleet://admin']),
    readonly: ours.files(['bigfleet://readonly']),
    'no name': ours.files([]),
    'two names': ours.files(['bigfleet://cluster/web', 'bigfleet://admin']),
    'another scheme': ours.files(['spiffe://cluster/web']),
    expired: ours.files(['bigfleet://cluster/web'], ours, PAST),
    'another authority': theirs.files(['bigfleet://cluster/web'], ours),
  };
}
