// Runs once for each test file. Hooks of shared helpers are here: files share their modules, and a hook that a module
// registers when it is loaded would belong to the first file alone.
import { afterAll, afterEach } from "vitest";
import { killChildren } from "../src/testing/child-process.ts";
import { killProcesses } from "./cli/assay.ts";
import { stopCommands } from "./cli/in-process.ts";

afterEach(killChildren);
afterAll(stopCommands);
afterAll(killProcesses);
