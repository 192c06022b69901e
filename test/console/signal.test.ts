/** Signals of the console, driven by the hooks that Preact calls around the rendering of a component. */
import { expect, test } from "bun:test";
import { options } from "preact";
import { computed, signal } from "../../src/console/data/signal.ts";

type Hook = (vnode: { __c: unknown }) => void;
const hooks = options as unknown as Record<"__r" | "diffed" | "unmount", Hook>;

/** A component that reads when it renders, and counts how often it was asked to render again. */
function component(reads: () => unknown) {
  const vnode = { __c: { asked: 0, setState: () => (vnode.__c.asked += 1) } };
  hooks.__r(vnode);
  reads();
  hooks.diffed(vnode);
  return { asked: () => vnode.__c.asked, unmount: () => hooks.unmount(vnode) };
}

test("a component that has read a signal is rendered again when it changes", () => {
  const [read, other] = [signal(1), signal(1)];
  const { asked } = component(() => read.value);
  other.value = 2;
  expect(asked()).toBe(0);
  read.value = 2;
  expect(asked()).toBe(1);
  expect(read.value).toBe(2);
});

test("the same value again changes nothing", () => {
  const read = signal(NaN);
  const { asked } = component(() => read.value);
  read.value = NaN;
  expect(asked()).toBe(0);
});

test("what is read after the rendering is not followed", () => {
  const read = signal(1);
  const { asked } = component(() => undefined);
  expect(read.value).toBe(1);
  read.value = 2;
  expect(asked()).toBe(0);
});

test("a component that has left the page is not rendered again", () => {
  const read = signal(1);
  const { asked, unmount } = component(() => read.value);
  unmount();
  read.value = 2;
  expect(asked()).toBe(0);
});

test("a computed value follows the signals it is made of", () => {
  const [one, two] = [signal(1), signal(2)];
  const sum = computed(() => one.value + two.value);
  const { asked } = component(() => sum.value);
  two.value = 3;
  expect([sum.value, asked()]).toEqual([4, 1]);
});
