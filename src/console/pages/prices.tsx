/** The page Prices. */
import { Page } from "../shell/page.tsx";

export function PricesPage() {
  return <Page title="Prices">{null}</Page>;
}
