/**
 * The price list of the executable: the data of our providers out of the 43 of the dependency, which evaluates all of
 * them, and prepares a calculator, before it can show a price.
 */
import { findProvider, type Provider } from "@pydantic/genai-prices";
import { PROVIDERS } from "../../src/apis/providers.ts";
import { RepriseError } from "../../src/domain/errors.ts";

/** The package that `src/prices` imports. */
export const PRICE_PACKAGE = "@pydantic/genai-prices";

/** The members of a provider that `src/prices` reads. */
export type ListedProvider = Pick<Provider, "id" | "models" | "fallback_model_providers">;

/** Returns the source of a module that replaces the package in the executable: its `findProvider` by an exact id. */
export function priceListModule(): string {
  const providers = JSON.stringify(Object.fromEntries(listedProviders().map((each) => [each.id, each])));
  return `const providers = JSON.parse(${JSON.stringify(providers)});\n` +
    "export const findProvider = ({ providerId }) =>\n" +
    "  Object.hasOwn(providers, providerId) ? providers[providerId] : undefined;\n";
}

/**
 * The providers of `PROVIDERS` and those whose models they offer too.
 *
 * @throws {RepriseError} `unexpected` if the package no longer has one of ours.
 */
export function listedProviders(): ListedProvider[] {
  const names = Object.values(PROVIDERS).flatMap(({ priceList }) =>
    priceList === null ? [] : [priceList.name]
  );
  const own = names.map((name) => {
    const found = findProvider({ providerId: name });
    if (found === undefined) {
      throw new RepriseError("unexpected", `${PRICE_PACKAGE} has no prices of ${name}`);
    }
    return found;
  });
  const others = own.flatMap((provider) => provider.fallback_model_providers ?? [])
    .flatMap((providerId) => findProvider({ providerId }) ?? []);
  return [...new Set([...own, ...others])].map(({ id, models, fallback_model_providers }) => ({
    id,
    models: models.map(({ id, match, prices }) => ({ id, match, prices })),
    ...(fallback_model_providers === undefined ? {} : { fallback_model_providers }),
  }));
}
