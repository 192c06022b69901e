/** Credentials in addresses: `scheme://user:password@host` (RFC 3986, 3.2.1), and parameters such as `?api_key=`. */
import { isAlnum } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

const LONGEST = 512;
/** The part between the slashes and the `@`, up to {@link LONGEST}. */
const USER = /([^\s/?#@:"'<>`]{0,128}):([^\s/?#@"'<>`]{1,256})@[\w[.-]/y;
const PARAMETER =
  /[?&;](?:api[_-]?key|key|access[_-]?token|auth[_-]?token|token|secret|client[_-]?secret|password|passwd|pwd|sig|signature|x-amz-signature)=([^\s&#"'<>`;]{4,512})/giy;
/** A place for a value: `${PASSWORD}`, `<password>`, `{{ password }}`, `***`. */
const EMPTY =
  /^(?:[$%{<[*].*|x+|\.+|password|passwd|pass|secret|user|token|key|value|example|test|changeme|your[_-].*|my[_-].*)$/i;

export const urlCredentials: Detector = {
  name: "url-credentials",
  kind: "CREDENTIALS",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (let at = text.indexOf("://", from); at >= 0; at = text.indexOf("://", at + 3)) {
      if (!isAlnum(text.charCodeAt(at - 1))) continue;
      USER.lastIndex = at + 3;
      const user = USER.exec(text);
      if (user && !EMPTY.test(user[2]!)) {
        const start = at + 3 + user[1]!.length + 1;
        found.push({ start, end: start + user[2]!.length, kind: "CREDENTIALS" });
      }
      addParameters(text, at + 3, found);
    }
    return found;
  },
  reach(text) {
    const at = text.lastIndexOf("://");
    if (at >= 0 && text.length - at <= LONGEST * 5 && !/[\s"'<>`]/.test(text.slice(at)))
      return firstOf(text, at);
    return text.length - /(?::\/?)?$/.exec(text)![0].length;
  },
};

/** An address can hold another one. */
function firstOf(text: string, at: number): number {
  const least = Math.max(0, text.length - LONGEST * 5);
  let first = at;
  for (let one = at; one >= least; one = one === 0 ? -1 : text.lastIndexOf("://", one - 1)) {
    if (/[\s"'<>`]/.test(text.slice(one, first))) break;
    first = one;
  }
  return first;
}

/** The parameters of the address that goes on from here. */
function addParameters(text: string, from: number, found: Finding[]): void {
  const end = Math.min(text.length, from + LONGEST * 4);
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === 0x22 || code === 0x27 || code === 0x3c || code === 0x3e || code === 0x60)
      return;
    // Another address in it has its own turn.
    if (code === 0x3a && text.startsWith("://", at)) return;
    if (code !== 0x3f && code !== 0x26 && code !== 0x3b) continue;
    PARAMETER.lastIndex = at;
    const parameter = PARAMETER.exec(text);
    if (!parameter || EMPTY.test(parameter[1]!)) continue;
    const start = at + parameter[0].length - parameter[1]!.length;
    found.push({ start, end: at + parameter[0].length, kind: "CREDENTIALS" });
    at = start + parameter[1]!.length - 1;
  }
}
