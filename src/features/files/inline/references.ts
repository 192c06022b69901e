/** Which names of files in requests are those of weir's own. */
import { keptIdIn } from "../../../core/kept-id.ts";

/** The forms in which weir prints ids of files. */
const FORM = /^(?:file[-_]|files\/)?[^-_/]+$/;

/** The address that clients of Google get for a file, at any name of weir's host. */
const ADDRESS =
  /^https?:\/\/([^/?#]+)\/(?:[^?#]*\/)?v1(?:beta)?\/files\/([^/?#:]+)(?::download)?(?:[?#].*)?$/i;

/** Files of the vendor itself have addresses of the same form there. */
const VENDOR = /(?:^|\.)googleapis\.com(?::\d+)?$/i;

/**
 * The id of a file of weir in what a request says.
 * @param name an id in the form of any vendor, or an address @returns undefined: a provider may have it
 */
export function ownIdIn(name: string): string | undefined {
  const [, host, last] = ADDRESS.exec(name) ?? [];
  if (host !== undefined) return VENDOR.test(host) ? undefined : keptIdIn(last!);
  return FORM.test(name) ? keptIdIn(name) : undefined;
}
