/** Describes errors of the operating system (errno codes) in messages. */

const CLAUSES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its path is too long",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  EIO: "the disk reported an I/O error",
};

/** The errno code of an error (`EACCES`); undefined when it has none. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** Why a file could not be read or written, as a clause such as `permission denied`. */
export function describeFileError(error: unknown): string {
  const code = systemCode(error);
  return code === undefined ? "for an unknown reason" : (CLAUSES[code] ?? code);
}
