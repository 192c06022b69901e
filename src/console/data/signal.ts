/**
 * Values that components follow: a component that reads `value` while it renders is rendered again when the value changes.
 * This is the part of `@preact/signals` that the console needs, in a tenth of its size.
 */
import { type Component, options } from "preact";

export interface Signal<Value> {
  value: Value;
}

/** Hooks of Preact around the rendering of a component, which its own hooks use in the same way. */
interface Rendering {
  /** Before a component is rendered; `__c` is the component. */
  __r?: (vnode: Rendered) => void;
  diffed?: (vnode: Rendered) => void;
  unmount?: (vnode: Rendered) => void;
}

interface Rendered {
  __c?: Component | null;
}

/** The component that is rendered now. */
let current: Component | undefined;
/** The signals that a component has read, as their readers. */
const followed = new WeakMap<Component, Set<Set<Component>>>();

const hooks = options as Rendering;
const { __r: begin, diffed, unmount } = hooks;

hooks.__r = (vnode) => {
  begin?.(vnode);
  current = vnode.__c ?? undefined;
};
hooks.diffed = (vnode) => {
  current = undefined;
  diffed?.(vnode);
};
hooks.unmount = (vnode) => {
  unmount?.(vnode);
  for (const readers of (vnode.__c && followed.get(vnode.__c)) ?? []) readers.delete(vnode.__c!);
};

function follow(readers: Set<Component>): void {
  if (!current) return;
  readers.add(current);
  const all = followed.get(current) ?? new Set();
  followed.set(current, all.add(readers));
}

export function signal<Value>(first: Value): Signal<Value> {
  const readers = new Set<Component>();
  let now = first;
  return {
    get value() {
      follow(readers);
      return now;
    },
    set value(next) {
      if (Object.is(next, now)) return;
      now = next;
      for (const reader of readers) reader.setState({});
    },
  };
}

/** A value that is made of signals each time it is read. */
export function computed<Value>(of: () => Value): { readonly value: Value } {
  return {
    get value() {
      return of();
    },
  };
}
