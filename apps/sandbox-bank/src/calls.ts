/** A call a TPP made. `isAttended`: it carried the PSU's address, which is how a bank learns that the PSU is there. */
export interface RecordedCall {
  at: string;
  bank: string;
  route: string;
  /** The bank’s own id of the account that it was about, if it was about one. */
  account: string | undefined;
  status: number;
  isAttended: boolean;
  interactionId: string | undefined;
  fault: string | undefined;
}

const kept = 1000;

/** The latest calls of TPPs, for tests that count them. */
export class Calls {
  #list: RecordedCall[] = [];

  record(call: RecordedCall): void {
    this.#list.push(call);
    if (this.#list.length > kept * 2) this.#list = this.#list.slice(-kept);
  }

  list(): readonly RecordedCall[] {
    return this.#list.slice(-kept);
  }

  clear(): void {
    this.#list = [];
  }
}
