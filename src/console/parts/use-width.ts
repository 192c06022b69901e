/** The width of an element in pixels, so that charts are drawn anew and their text is never scaled. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** @returns a ref for the element, and its width; 0 before the first measurement */
export function useWidth<Kind extends Element>(): [RefObject<Kind | null>, number] {
  const ref = useRef<Kind | null>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
