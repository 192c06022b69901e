/** Places in the tree of keys: `/`, `/eng`, `/eng/search`. */

const SEGMENT = /^[a-z0-9][a-z0-9._@-]{0,63}$/i;
const MAX_LENGTH = 256;
const MAX_DEPTH = 16;

export const ROOT = "/";

/** A clause that states the fault of a path; undefined when there is none. */
export function pathFault(path: string): string | undefined {
  if (path === ROOT) return undefined;
  if (!path.startsWith(ROOT)) return "must begin with a slash, such as /eng/search";
  if (path.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const segments = path.slice(1).split("/");
  if (segments.length > MAX_DEPTH) return `must have at most ${MAX_DEPTH} parts`;
  if (segments.every((segment) => SEGMENT.test(segment))) return undefined;
  return "must consist of parts of at most 64 letters, digits, dots, dashes, underscores and @, each with one slash before it";
}

/** Whether a path is the other one or lies below it. */
export function isWithin(path: string, ancestor: string): boolean {
  if (ancestor === ROOT || path === ancestor) return true;
  return path.startsWith(ancestor) && path[ancestor.length] === "/";
}
