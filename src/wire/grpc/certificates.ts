// Issues certificates: a private certificate authority, and leaves signed by it. For `bigfleet certs` and for tests; a
// fleet with an existing authority does not need it. X.509 v3 with P-256 keys. Node can sign and parse certificates but
// not create them; the structures of RFC 5280 and their encoding come from @peculiar/asn1-x509.

import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv6 } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity as ValidityPeriod,
  Version,
} from '@peculiar/asn1-x509';

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

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A self-signed authority. */
export function makeAuthority(subject: Validity & { readonly name: string }): Issued {
  const keys = makeKeys();
  const { keyCertSign, cRLSign } = KeyUsageFlags;
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), true),
    extension(id_ce_keyUsage, new KeyUsage(keyCertSign | cRLSign), true),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyIdOf(keys.publicKey))),
  ];
  return signed(subject, keys, subject.name, keys.privateKey, extensions);
}

/** A leaf for both ends of a connection: one certificate per process serves all its edges. */
export function issueCertificate(authority: Issued, subject: LeafSubject): Issued {
  const parent = new X509Certificate(authority.certificate);
  const keyIdentifier = new OctetString(keyIdOf(parent.publicKey.export({ type: 'spki', format: 'der' })));
  const names = [
    ...(subject.dnsNames ?? []).map((dNSName) => new GeneralName({ dNSName })),
    ...(subject.uris ?? []).map((uri) => new GeneralName({ uniformResourceIdentifier: uri })),
    ...(subject.ipAddresses ?? []).map((address) => new GeneralName({ iPAddress: plainAddress(address) })),
  ];
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints(), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth, id_kp_clientAuth])),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier })),
    ...(names.length > 0 ? [extension(id_ce_subjectAltName, new SubjectAlternativeName(names))] : []),
  ];
  const issuer = parent.subject.replace(/^CN=/, '');
  return signed(subject, makeKeys(), issuer, createPrivateKey(authority.key), extensions);
}

type PrivateKey = ReturnType<typeof createPrivateKey>;

interface Keys {
  /** SubjectPublicKeyInfo as DER. */
  readonly publicKey: Buffer;
  readonly privateKey: PrivateKey;
}

function signed(
  subject: Validity & { readonly name: string },
  { publicKey, privateKey }: Keys,
  issuer: string,
  signer: PrivateKey,
  extensions: Extension[],
): Issued {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const content = new TBSCertificate({
    version: Version.v3,
    // The first byte keeps the number positive; 120 random bits keep it unique.
    serialNumber: arrayOf(Buffer.concat([Buffer.of(0x40), randomBytes(15)])),
    signature: algorithm,
    issuer: commonName(issuer),
    validity: new ValidityPeriod(subject),
    subject: commonName(subject.name),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey, SubjectPublicKeyInfo),
    extensions: new Extensions(extensions),
  });
  const certificate = new Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: arrayOf(sign('sha256', Buffer.from(AsnConvert.serialize(content)), signer)),
  });
  return {
    certificate: new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function makeKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }), privateKey };
}

/** Identifies a key in a chain. It has no security purpose, so SHA-1 suffices, as in RFC 5280. */
function keyIdOf(publicKey: Buffer): ArrayBuffer {
  return arrayOf(createHash('sha1').update(publicKey).digest());
}

function extension(id: string, value: object, critical = false): Extension {
  return new Extension({ extnID: id, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function commonName(name: string): Name {
  const value = new AttributeValue({ utf8String: name });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

/** IPv6 without the embedded IPv4 notation (`::ffff:10.0.0.1`), which the encoder cannot read. */
function plainAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

function arrayOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
