// How long names may be, in UTF-8 bytes. Kubernetes' own limits: a label key is a DNS prefix of 253, a slash and a name of
// 63; a label value has 63. Readers check the bytes on the wire before they decode or keep anything, because a name is
// copied into ledgers, databases, fingerprints and answers many times over.

export const NameLimits = {
  clusterId: 253,
  /** Keys of requirements and labels. */
  key: 317,
  /** Values of requirements and labels. */
  value: 63,
  resource: 317,
  /** Topology keys of spread terms. */
  spreadKey: 317,
  /** A topology key, a zero byte and a label selector as text. */
  group: 1024,
  machineId: 253,
} as const;
