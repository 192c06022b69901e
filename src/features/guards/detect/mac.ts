/** Addresses of network hardware (IEEE 802): those of one device. */
import { templateDetector } from "./template.ts";

export const mac = templateDetector({
  name: "mac",
  kind: "MAC",
  templates: ["HH:HH:HH:HH:HH:HH", "HH-HH-HH-HH-HH-HH", "HHHH.HHHH.HHHH"],
  // Not those of groups of devices, and of none.
  check: (value) => !/^(?:0{12}|F{12})$/.test(value) && (Number.parseInt(value.slice(0, 2), 16) & 1) === 0,
});
