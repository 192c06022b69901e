/** A feature of the gateways that tests start: their clocks are ahead by the milliseconds in the file that `MOVED_CLOCK` names. */
import { readFileSync } from "node:fs";
import type { Feature } from "../../../feature/feature.ts";

const LOOK_MS = 20;

const now = Date.now;
let ahead = 0;
Date.now = () => now() + ahead;

setInterval(() => (ahead = Number(readFileSync(process.env["MOVED_CLOCK"]!, "utf8"))), LOOK_MS).unref();

export const movedClock: Feature = { name: "moved-clock" };
