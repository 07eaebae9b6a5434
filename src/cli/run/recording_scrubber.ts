import type { ApiKey } from "../../apis/api.ts";
import { createScrubber, type Scrubber } from "../../fixture/secrets/scrubber.ts";
import { secretEnvironment } from "../secret_environment.ts";

/** Takes out of a recording what must not stand in it: the secrets of the environment, and the run's key. */
export function recordingScrubber(key: ApiKey | null, notSecret: readonly string[] | undefined): Scrubber {
  const { values } = secretEnvironment(notSecret);
  const scrubber = createScrubber({ values });
  if (key !== null) scrubber.learn("the API key", key.value);
  return scrubber;
}
