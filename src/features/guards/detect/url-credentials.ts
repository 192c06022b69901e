/** Credentials in addresses: `scheme://user:password@host` (RFC 3986, 3.2.1), and parameters such as `?api_key=`. */
import { isAlnum } from "./classes.ts";
import { type Detector, type Finding, matchesFrom } from "./detector.ts";

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
    let first = text.length;
    for (const { index } of matchesFrom(
      /[A-Za-z][\w+.-]{0,15}:(?:\/(?:\/[^\s"'<>`]*)?)?$/g,
      text,
      Math.max(0, text.length - LONGEST),
    ))
      first = Math.min(first, index);
    if (at < 0 || /[\s"'<>`]/.test(text.slice(at))) return first;
    return Math.min(first, Math.max(at - 16, text.length - LONGEST * 2, 0));
  },
};

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
