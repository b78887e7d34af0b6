/** Room for so many bytes of JSON text, in the order they come. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Whether there is room, also for the comma behind it. */
  fits(text: string, more = 0): boolean {
    return sizeOf(text, more) <= this.#left;
  }

  /** Whether there was room, also for so many bytes more; if not, it is as if it was not asked. */
  take(text: string, more = 0): boolean {
    if (!this.fits(text, more)) return false;
    this.#left -= sizeOf(text, more);
    return true;
  }
}

function sizeOf(text: string, more: number): number {
  return Buffer.byteLength(text) + 1 + more;
}
