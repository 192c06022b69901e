/** Faults of the options of guards that ask. */
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import { ASKED } from "./section.ts";
import { headerFault } from "../../../config/sections/kinds.ts";
import { isObject } from "../../../core/json.ts";
import { ANSWER_MODES, REQUEST_MODES } from "../declarations.ts";
import { isCredential } from "../../../core/client-headers.ts";

type Written = Readonly<Record<string, unknown>>;

/** Faults of a guard, and combinations that promise what cannot be held. @param asks whether it asks services or models */
export function askingFaults(guard: Written, asks: boolean, path: Path): Fault[] {
  const fault = modeFault(guard, asks);
  const { presidio, do: action } = guard;
  const judges = YES_OR_NO.filter((name) => guard[name] !== undefined);
  return [
    ...faultAt([...path, "presidio"], typeof presidio === "string" ? urlFault(presidio) : undefined),
    ...faultAt(
      [...path, "do"],
      judges.length > 0 && ["replace", "mask"].includes(String(action))
        ? `${judges[0]} says yes or no: it finds nothing that could be replaced`
        : undefined,
    ),
    ...webhookFaults(guard["webhook"], [...path, "webhook"]),
    ...(fault === undefined ? [] : [{ path: [...path, "mode"], clause: fault }]),
  ];
}

/** What gives a verdict on all texts, and no places. */
const YES_OR_NO = ["moderate", "model"];

function modeFault(guard: Written, asks: boolean): string | undefined {
  const modes = [guard["mode"] ?? []].flat().map(String);
  const of = (all: readonly string[]) => modes.filter((mode) => all.includes(mode));
  if (of(REQUEST_MODES).length > 1 || of(ANSWER_MODES).length > 1)
    return "mode has one for requests and one for answers at most";
  const replaces = ["replace", "mask"].includes(String(guard["do"]));
  const has = (mode: string) => modes.includes(mode);
  if (!asks && (has("beside") || has("after")))
    return "what is found by its form is found before it goes on: beside and after are for guards that ask";
  if (has("beside") && (replaces || isObject(guard["do"])))
    return "beside a guard sees a request that the provider has already: it can block or flag";
  if (has("after") && replaces)
    return "after is too late to replace anything: the client has the text already";
  if (has("window") && asks && !holdsPieces(guard))
    return "window needs a service that says by hold how much may go on: a webhook with holds: true; else say hold or after";
  return undefined;
}

/** Whether all that a guard asks says of pieces how much of them may go on. */
function holdsPieces(guard: Written): boolean {
  const found = Array.isArray(guard["find"]) ? guard["find"] : [];
  if (ASKED.some((name) => name !== "webhook" && name !== "plugin" && guard[name] !== undefined))
    return false;
  const webhooks = [guard["webhook"], ...found.map((one: unknown) => isObject(one) && one["webhook"])];
  return webhooks
    .filter((one) => one !== undefined && one !== false)
    .every((one) => isObject(one) && one["holds"] === true);
}

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
