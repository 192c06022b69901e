/** Faults of the options of guards that ask. */
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import { headerFault } from "../../../config/sections/kinds.ts";
import { isObject } from "../../../core/json.ts";
import { isCredential } from "../../../core/client-headers.ts";

/** @param written as the file contains it */
export function webhookFaults(written: unknown, path: Path): Fault[] {
  if (typeof written === "string") return faultAt(path, urlFault(written));
  if (!isObject(written)) return [];
  const { url, headers, forward } = written;
  return [
    ...faultAt([...path, "url"], typeof url === "string" ? urlFault(url) : undefined),
    ...Object.entries(isObject(headers) ? headers : {}).flatMap(([name, value]) =>
      faultAt([...path, "headers", name], headerFault(name, String(value))),
    ),
    ...(Array.isArray(forward) ? forward : []).flatMap((name, at) =>
      faultAt([...path, "forward", at], isCredential(String(name)) ? CREDENTIAL : undefined),
    ),
  ];
}

const CREDENTIAL = "a credential of clients goes to no service";

/** References such as ${NAME} are replaced before. */
export function urlFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be an http:// or https:// URL";
  return url.username !== "" || url.password !== "" ? "must not contain a user name or password" : undefined;
}
