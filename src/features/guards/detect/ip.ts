/** IP addresses, version 4 and 6 (RFC 4291, RFC 5952). Loopback and unspecified addresses belong to no one. */
import { isIPv4, isIPv6 } from "node:net";
import { type Detector, type Finding, matchesFrom, reachOf } from "./detector.ts";

const V4 = /\d{1,3}(?:\.\d{1,3}){3}/g;
const V6 = /[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{0,35}(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?/g;
/** What stands around an address is no part of a longer word, number or version. */
const BEFORE_V4 = /[\w.-]$/;
const BEHIND_V4 = /^(?:[\w-]|\.\d)/;
const BEFORE_V6 = /[\w:.]$/;
const BEHIND_V6 = /^[\w:]/;
const OWN = /^(?:127\.|0\.0\.0\.0$|::1?$)/;
/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const LONGEST = 45;

export const ip: Detector = {
  name: "ip",
  kind: "IP",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (const match of matchesFrom(V4, text, from)) add(match, BEFORE_V4, BEHIND_V4, found);
    if (text.includes(":"))
      for (const match of matchesFrom(V6, text, from)) add(match, BEFORE_V6, BEHIND_V6, found);
    return found;
  },
  reach: reachOf(/(?<![\w:.])[0-9A-Fa-f:.]+$/, LONGEST + 1),
  normal: (value) => value.toLowerCase(),
};

function add(match: RegExpExecArray, before: RegExp, behind: RegExp, found: Finding[]): void {
  const { 0: address, index: start, input } = match;
  const end = start + address.length;
  if (before.test(input.slice(Math.max(0, start - 1), start)) || behind.test(input.slice(end, end + 2)))
    return;
  const isAddress = isIPv4(address) || (isIPv6(address) && /[0-9A-Fa-f]/.test(address));
  if (isAddress && !OWN.test(address)) found.push({ start, end, kind: "IP" });
}
