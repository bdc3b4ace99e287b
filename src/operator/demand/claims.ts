// Claims and the volumes behind them: where the volumes of a pod can be reached from. Pods refer to a set of claims by
// number; a change of a claim or volume is noted here and applied to its pods at the next roll-up.

import type { PersistentVolume, PersistentVolumeClaim } from '../kube/objects.ts';
import { termsOfVolume, type VolumeTerms } from '../pods/volumes.ts';
import { CountedInterner } from './counted-interner.ts';
import { ListedObjects } from './listed-objects.ts';

export interface ClaimSet {
  /** `namespace/name` of each. */
  readonly claims: readonly string[];
}

export class Claims {
  readonly sets = new CountedInterner<ClaimSet>();
  readonly #changedClaims = new Set<string>();
  readonly #changedVolumes = new Set<string>();
  /** Name of the bound volume; '' while unbound. */
  readonly claims = new ListedObjects<PersistentVolumeClaim, string>(
    ({ spec }) => spec?.volumeName ?? '',
    (name, volume, before) => {
      if (volume !== before) this.#changedClaims.add(name);
    },
  );
  /** Only volumes that cannot be used everywhere, with their terms as text and as objects. */
  readonly volumes = new ListedObjects<
    PersistentVolume,
    { readonly text: string; readonly terms: VolumeTerms }
  >(
    (volume) => {
      const terms = termsOfVolume(volume);
      return terms === null ? null : { text: JSON.stringify(terms), terms };
    },
    (name, kept, before) => {
      if (kept?.text !== before?.text) this.#changedVolumes.add(name);
    },
  );

  /** The number of a pod's claims; 0 for none. */
  setOf(namespace: string, names: readonly string[]): number {
    if (names.length === 0) return 0;
    const claims = names.map((name) => `${namespace}/${name}`);
    return this.sets.numberOf(claims.join('\n'), () => ({ claims }));
  }

  /** Terms of each bound volume that is not usable everywhere, and a text that is equal for equal terms. */
  termsOf(set: number): { readonly text: string; readonly volumes: readonly VolumeTerms[] } {
    const found = new Map<string, VolumeTerms>();
    for (const claim of this.sets.valueOf(set).claims) {
      const volume = this.volumes.get(this.claims.get(claim) ?? '');
      if (volume !== undefined) found.set(volume.text, volume.terms);
    }
    return { text: [...found.keys()].sort().join('\n'), volumes: [...found.values()] };
  }

  /** The first claim of a set that does not exist; undefined if all do. */
  missingOf(set: number): string | undefined {
    for (const claim of this.sets.valueOf(set).claims) if (this.claims.get(claim) === undefined) return claim;
    return undefined;
  }

  /** Every set is to be looked at again. */
  changeAll(): void {
    for (const [, { claims }] of this.sets.entries())
      for (const claim of claims) this.#changedClaims.add(claim);
  }

  /** Numbers of the sets that changed since the last call. */
  takeChanged(): ReadonlySet<number> {
    const changed = new Set<number>();
    if (this.#changedClaims.size + this.#changedVolumes.size === 0) return changed;
    for (const [number, { claims }] of this.sets.entries()) {
      const isChanged = claims.some((claim) => {
        const volume = this.claims.get(claim);
        return this.#changedClaims.has(claim) || (volume !== undefined && this.#changedVolumes.has(volume));
      });
      if (isChanged) changed.add(number);
    }
    this.#changedClaims.clear();
    this.#changedVolumes.clear();
    return changed;
  }
}
