/** Whether a run is in the sample. The same run always is, and one in a small share is in every larger one. */
export function isSampled(runId: string, share: number): boolean {
  return share >= 1 || hash(runId) / 2 ** 32 < share;
}

/** FNV-1a with the last mixing step of MurmurHash3: without it, ids that differ in their end fall close together. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
