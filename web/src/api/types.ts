import type { components } from './schema.gen.ts';

type Schemas = components['schemas'];

export type Definition = Schemas['Definition'];
export type Job = Schemas['Job'];
export type Run = Schemas['Run'];
export type RunStatus = Run['status'];
export type Worker = Schemas['Worker'];
export type Me = Schemas['Me'];
export type Role = NonNullable<Me['role']>;
export type PreviewRequest = Schemas['PreviewRequest'];
export type Preview = Schemas['Preview'];
export type ScheduleNote = Schemas['Note'];
export type Fire = Schemas['Fire'];
export type FireStatus = Fire['status'];
export type Condition = Schemas['Condition'];
export type Reason = Schemas['Reason'];
export type Param = Schemas['Param'];
export type Event = NonNullable<Schemas['Notify']['on']>[number];
export type Result = Schemas['Result'];
export type Statistics = Schemas['Statistics'];
export type RunMatches = Schemas['RunMatches'];
export type RunRequest = Schemas['RunRequest'];
export type Candidate = Schemas['Candidate'];
export type WorkerSettings = Schemas['WorkerSettings'];
export type WorkerPatch = Schemas['WorkerPatch'];
