import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from making objects in the old generation because earlier ones of the same place in the code lived long. Rows of a long
 * job teach it that about every row of `pg`; then those of short requests die in the old generation, and until it is collected
 * they keep the texts that they hold: a third of a page's time went to that. Called before any work is done.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
