/** Fixture folders made by tests. */
export { type GivenExchange, writeFixture } from "../doors/recordings/recording_files.ts";
