/** Moments as text: local times, with UTC beside them. Input is milliseconds since 1970. */
import { age } from "./durations.ts";

const two = (number: number) => String(number).padStart(2, "0");
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `12:40:26` */
export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `12:40` */
export function hourMinute(at: number): string {
  return clock(at).slice(0, 5);
}

/** `11 November`, with the year if it is not the present one. */
export function day(at: number, now = Date.now()): string {
  const date = new Date(at);
  const year = date.getFullYear() === new Date(now).getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${date.getDate()} ${MONTHS[date.getMonth()]!}${year}`;
}

/** `11 Nov` */
export function shortDay(at: number): string {
  const date = new Date(at);
  return `${date.getDate()} ${MONTHS[date.getMonth()]!.slice(0, 3)}`;
}

/** `November` */
export function month(at: number): string {
  return MONTHS[new Date(at).getMonth()]!;
}

/** `12:40:26` today, `11 Nov 12:40` on other days. */
export function moment(at: number, now = Date.now()): string {
  return sameDay(at, now) ? clock(at) : `${shortDay(at)} ${hourMinute(at)}`;
}

/** Without seconds: `12:40` today, `11 Nov 12:40` on other days. For the ends of ranges. */
export function minute(at: number, now = Date.now()): string {
  return sameDay(at, now) ? hourMinute(at) : moment(at, now);
}

export function sameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

/** `2026-11-20 11:40:26 UTC` */
export function utc(at: number): string {
  return `${new Date(at).toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

/** `just now`, `16 s ago`, `4 min ago`. */
export function ago(at: number, now = Date.now()): string {
  return now - at < 5_000 ? "just now" : `${age(now - at)} ago`;
}
