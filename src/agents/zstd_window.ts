/**
 * Windows of frames of zstd: the bytes that a decoder keeps, which a frame of a few bytes can name freely.
 *
 * @module
 */

/** Largest window that is decompressed; `zstd` refuses larger ones too. */
const MAX_WINDOW = 128 * 1024 * 1024;
const FRAME = 0xfd2fb528;
const SKIPPED = 0x184d2a5;
/** Length of the id of a dictionary, by the last two bits of the flags. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
/** Length of the size of the content, by the first two bits of the flags. */
const SIZE_BYTES = [0, 2, 4, 8];

/** True if a frame names a window over 128 MiB. Frames after damage are not examined. */
export function namesLargeWindow(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length;) {
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === SKIPPED) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== FRAME) return false;
    const flags = view.getUint8(at + 4);
    const isSingle = (flags & 0x20) !== 0;
    const sizeBytes = SIZE_BYTES[flags >> 6] || (isSingle ? 1 : 0);
    const size = at + (isSingle ? 5 : 6) + (DICTIONARY_BYTES[flags & 3] ?? 0);
    if (size + sizeBytes > bytes.length) return false;
    if ((isSingle ? sizeIn(view, size, sizeBytes) : windowOf(view.getUint8(at + 5))) > MAX_WINDOW) {
      return true;
    }
    at = afterBlocks(view, size + sizeBytes) + ((flags & 4) === 0 ? 0 : 4);
  }
  return false;
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + base / 8 * (descriptor & 7);
}

function sizeIn(view: DataView, at: number, bytes: number): number {
  switch (bytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

/** The end of the last block of a frame; the end of the bytes if they end before it. */
function afterBlocks(view: DataView, start: number): number {
  for (let at = start; at + 3 <= view.byteLength;) {
    const header = view.getUint16(at, true) | view.getUint8(at + 2) << 16;
    const repeats = (header >> 1 & 3) === 1;
    at += 3 + (repeats ? 1 : header >> 3);
    if ((header & 1) !== 0) return at;
  }
  return view.byteLength;
}
