// Issues certificates: a private certificate authority, and leaves signed by it. For `bigfleet certs` and for tests; a
// fleet with an existing authority does not need it. X.509 v3 with P-256 keys, encoded as DER here, because Node can sign
// and parse certificates but not create them.

import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv6 } from 'node:net';

/** A certificate with its private key, both as PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface LeafSubject extends Validity {
  readonly name: string;
  /** Identities such as `bigfleet://shard/shard-0`; exactly one for a caller. */
  readonly uris?: readonly string[];
  /** What servers are reached by. */
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** A self-signed authority. */
export function makeAuthority(subject: Validity & { readonly name: string }): Issued {
  const { publicKey, privateKey } = makeKeys();
  const keyId = keyIdOf(publicKey);
  return signed(
    { ...subject, issuer: subject.name, publicKey },
    [
      extension(OID.basicConstraints, true, sequence(TRUE)),
      extension(OID.keyUsage, true, der(TAG.bitString, Buffer.of(1, 0b0000_0110))), // sign certificates and lists
      extension(OID.subjectKeyId, false, der(TAG.octetString, keyId)),
    ],
    privateKey,
    privateKey,
  );
}

/** A leaf for both ends of a connection: one certificate per process serves all its edges. */
export function issueCertificate(authority: Issued, subject: LeafSubject): Issued {
  const { publicKey, privateKey } = makeKeys();
  const parent = new X509Certificate(authority.certificate);
  const parentKey = parent.publicKey.export({ type: 'spki', format: 'der' });
  const names = [
    ...(subject.dnsNames ?? []).map((name) => der(TAG.dnsName, Buffer.from(name, 'latin1'))),
    ...(subject.uris ?? []).map((uri) => der(TAG.uri, Buffer.from(uri, 'latin1'))),
    ...(subject.ipAddresses ?? []).map((address) => der(TAG.ipAddress, ipBytes(address))),
  ];
  return signed(
    { ...subject, issuer: parent.subject.replace(/^CN=/, ''), publicKey },
    [
      extension(OID.basicConstraints, true, sequence()),
      extension(OID.keyUsage, true, der(TAG.bitString, Buffer.of(7, 0b1000_0000))), // sign handshakes
      extension(OID.extendedKeyUsage, false, sequence(oid(OID.serverAuth), oid(OID.clientAuth))),
      extension(OID.authorityKeyId, false, sequence(der(TAG.keyId, keyIdOf(parentKey)))),
      ...(names.length > 0 ? [extension(OID.subjectAltName, false, sequence(...names))] : []),
    ],
    createPrivateKey(authority.key),
    privateKey,
  );
}

interface Body extends Validity {
  readonly name: string;
  readonly issuer: string;
  readonly publicKey: Buffer;
}

type PrivateKey = ReturnType<typeof createPrivateKey>;

function signed(body: Body, extensions: readonly Buffer[], signer: PrivateKey, own: PrivateKey): Issued {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const content = sequence(
    der(TAG.version, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(0x40), randomBytes(15)])), // positive and never the same
    algorithm,
    commonName(body.issuer),
    sequence(time(body.notBefore), time(body.notAfter)),
    commonName(body.name),
    body.publicKey,
    der(TAG.extensions, sequence(...extensions)),
  );
  const signature = sign('sha256', content, signer);
  const certificate = sequence(
    content,
    algorithm,
    der(TAG.bitString, Buffer.concat([Buffer.of(0), signature])),
  );
  return {
    certificate: new X509Certificate(certificate).toString(),
    key: own.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function makeKeys(): { publicKey: Buffer; privateKey: PrivateKey } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }), privateKey };
}

/** Identifies a key in a chain. It has no security purpose, so SHA-1 suffices, as in RFC 5280. */
function keyIdOf(publicKey: Buffer): Buffer {
  return createHash('sha1').update(publicKey).digest();
}

// DER: a tag, a length, the content.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  keyId: 0x80,
  dnsName: 0x82,
  uri: 0x86,
  ipAddress: 0x87,
  version: 0xa0,
  extensions: 0xa3,
} as const;

const TRUE = der(TAG.boolean, Buffer.of(0xff));

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, 0x80 | bytes.length, ...bytes), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(TAG.sequence, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return der(TAG.integer, bytes);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

function commonName(name: string): Buffer {
  return sequence(der(TAG.set, sequence(oid(OID.commonName), der(TAG.utf8String, Buffer.from(name)))));
}

/** Two digits of the year up to 2049, four from then on, as RFC 5280 wants it. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/\.\d+|[-:T]/g, '')}`;
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2), 'latin1'))
    : der(TAG.generalizedTime, Buffer.from(text, 'latin1'));
}

function extension(id: string, isCritical: boolean, content: Buffer): Buffer {
  return sequence(oid(id), ...(isCritical ? [TRUE] : []), der(TAG.octetString, content));
}

function ipBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const all = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
