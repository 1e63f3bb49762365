import { defineConfig, mergeConfig } from 'vitest/config';
import vite from './vite.config.ts';

// The default limit of 5 s for a test is too short on a busy machine. No test asserts that it is fast.
export default mergeConfig(vite, defineConfig({ test: { testTimeout: 60_000, hookTimeout: 60_000 } }));
