// A Kubernetes object as it is printed. Used by the files of this folder.

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export const APP = 'bigfleet-operator';

/** Labels of all objects of the operator; also the selector of its pods. */
export const LABELS = { 'app.kubernetes.io/name': APP } as const;
export const COMMON_LABELS = { ...LABELS, 'app.kubernetes.io/part-of': 'bigfleet' } as const;
