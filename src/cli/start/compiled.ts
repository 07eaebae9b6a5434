/** The entry of the executable. */
import { begin } from "./begin.ts";

// Calls that load no part need no loader either.
const loader = () => import("./executable_parts.ts");

try {
  await begin(
    async (name) => (await loader()).executablePart(name),
    async () => (await loader()).executablePrices(),
  );
} catch (error) {
  (await import("./executable_sum.ts")).endAfter(error);
}
