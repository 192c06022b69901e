/** Base URLs as operators write them: with or without the version that the vendor's own one has. */
import type { Provider } from "../../core/provider.ts";
import { templatesOf } from "./endpoint.ts";

const VERSION = /^v\d+(?:beta|alpha)?\d*$/;

/**
 * The base URL to which the paths of a provider belong.
 * @param given an absolute URL without a slash at its end
 * @param own the vendor's own base URL, if it has one
 */
export function fittedBaseUrl(given: string, own: string | undefined, provider: Provider): string {
  if (own !== undefined && own.startsWith(`${given}/`)) return own;
  const url = URL.parse(given);
  if (!url || url.pathname === "/") return given;
  const segments = url.pathname.split("/").slice(1);
  const pathsOfText = templatesOf({ ...provider, does: undefined }).map(([, path]) => path);
  const paths = templatesOf(provider).map(([, path]) => path);
  const doubled = segments.findIndex((_, index) => {
    const tail = segments.slice(index);
    // A folder of one kind of models can be an API of its own with all others: DeepSeek's `/beta` has both.
    return (VERSION.test(tail.at(-1)!) ? paths : pathsOfText).some(
      (path) => path.startsWith(`/${tail.join("/")}/`) || isOtherVersion(tail, path),
    );
  });
  return doubled < 0 ? given : given.slice(0, -`/${segments.slice(doubled).join("/")}`.length);
}

/** Whether both are only a version, as in `/v1` before `/v1beta/models`. */
function isOtherVersion([version, ...more]: readonly string[], path: string): boolean {
  return more.length === 0 && VERSION.test(version!) && VERSION.test(path.split("/")[1] ?? "");
}
