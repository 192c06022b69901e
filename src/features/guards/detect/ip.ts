/** IP addresses, version 4 and 6 (RFC 4291, RFC 5952). Loopback and unspecified addresses belong to no one. */
import { isIPv4, isIPv6 } from "node:net";
import { type Detector, type Finding, matchesFrom, reachOf } from "./detector.ts";

const V4 = /(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\d)/g;
const V6 = /(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{1,39}(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])/g;
const OWN = /^(?:127\.|0\.0\.0\.0$|::1?$)/;
/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` */
const LONGEST = 45;

export const ip: Detector = {
  name: "ip",
  kind: "IP",
  find(text, from = 0) {
    const found: Finding[] = [];
    for (const { 0: address, index } of matchesFrom(V4, text, from)) add(address, index, found);
    if (text.includes(":"))
      for (const { 0: address, index } of matchesFrom(V6, text, from)) add(address, index, found);
    return found;
  },
  reach: reachOf(/(?<![\w:.])[0-9A-Fa-f:.]+$/, LONGEST + 1),
  normal: (value) => value.toLowerCase(),
};

function add(address: string, start: number, found: Finding[]): void {
  const isAddress = isIPv4(address) || (isIPv6(address) && /[0-9A-Fa-f]/.test(address));
  if (isAddress && !OWN.test(address)) found.push({ start, end: start + address.length, kind: "IP" });
}
