import type { ApiKey } from "../provider/provider.ts";
import { createScrubber, type Scrubber } from "../fixture/secrets/scrubber.ts";
import { secretEnvironment } from "./secret_environment.ts";

/** Takes out of a recording what must not stand in it: the secrets of the environment, and the run's key. */
export async function recordingScrubber(key: ApiKey | null): Promise<Scrubber> {
  const { values } = await secretEnvironment();
  const scrubber = createScrubber({ values });
  if (key !== null) scrubber.learn("the API key", key.value);
  return scrubber;
}
