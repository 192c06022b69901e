/** A file in an archive or in a layer of the image. */
export interface PackedFile {
  /** Path without a leading slash; a folder has no content. */
  path: string;
  content?: Uint8Array;
  isExecutable?: boolean;
}

/** Sorted by path, so that the order in which files were listed does not change the bytes. */
export function sorted(files: readonly PackedFile[]): PackedFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Rights of a file or folder in an archive: every user reads, and only the owner writes. */
export function modeOf({ content, isExecutable }: PackedFile): number {
  return content === undefined || isExecutable ? 0o755 : 0o644;
}
