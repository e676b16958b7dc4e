-- AlterTable
ALTER TABLE "sync_runs" ADD COLUMN     "accounts_not_due" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "attended" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "sealed_psu" TEXT;

-- CreateTable
CREATE TABLE "account_schedules" (
    "account_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "ready_at" TIMESTAMPTZ(3),
    "run_id" UUID,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,
    "read_at" TIMESTAMPTZ(3),
    "audited_at" TIMESTAMPTZ(3),
    "history_from" TIMESTAMPTZ(3),

    CONSTRAINT "account_schedules_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "call_ledgers" (
    "subject_id" UUID NOT NULL,
    "scope" TEXT NOT NULL,
    "connection_id" UUID NOT NULL,
    "calls" TIMESTAMPTZ(3)[],
    "blocked_until" TIMESTAMPTZ(3),
    "next_at" TIMESTAMPTZ(3),

    CONSTRAINT "call_ledgers_pkey" PRIMARY KEY ("subject_id","scope")
);

-- CreateTable
CREATE TABLE "institution_reaches" (
    "institution_id" TEXT NOT NULL,
    "calls_per_day" INTEGER,
    "overlap_days" INTEGER,
    "fresh_days" INTEGER,
    "fresh_refused_days" INTEGER,
    "later_days" INTEGER,
    "later_refused_days" INTEGER,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "institution_reaches_pkey" PRIMARY KEY ("institution_id")
);

-- CreateTable
CREATE TABLE "institution_circuits" (
    "institution_id" TEXT NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "last_connection_id" UUID,
    "opened_at" TIMESTAMPTZ(3),
    "probe_at" TIMESTAMPTZ(3),
    "probes" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "institution_circuits_pkey" PRIMARY KEY ("institution_id")
);

-- CreateIndex
CREATE INDEX "account_schedules_ready_at_idx" ON "account_schedules"("ready_at");

-- CreateIndex
CREATE INDEX "account_schedules_connection_id_idx" ON "account_schedules"("connection_id");

-- CreateIndex
CREATE INDEX "account_schedules_run_id_idx" ON "account_schedules"("run_id");

-- CreateIndex
CREATE INDEX "call_ledgers_connection_id_idx" ON "call_ledgers"("connection_id");

-- AddForeignKey
ALTER TABLE "account_schedules" ADD CONSTRAINT "account_schedules_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_schedules" ADD CONSTRAINT "account_schedules_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "call_ledgers" ADD CONSTRAINT "call_ledgers_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Accounts that are already there are due: by whatever time they were read last, the gap since then is filled.
INSERT INTO "account_schedules" ("account_id", "connection_id", "due_at", "ready_at", "read_at")
SELECT a."id", a."connection_id", c."next_sync_at", c."next_sync_at", a."last_synced_at"
FROM "accounts" a JOIN "connections" c ON c."id" = a."connection_id";
