/** The page Store. */
import { Page } from "../shell/page.tsx";

export function StorePage() {
  return <Page title="Store">{null}</Page>;
}
