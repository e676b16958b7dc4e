-- AlterTable
ALTER TABLE "connections" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3),
ADD COLUMN     "features" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "next_notice_at" TIMESTAMPTZ(3),
ADD COLUMN     "next_probe_at" TIMESTAMPTZ(3),
ADD COLUMN     "noticed_days" INTEGER,
ADD COLUMN     "probe_lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "reconfirmable" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "sca_until" TIMESTAMPTZ(3),
ADD COLUMN     "stop_cause" TEXT,
ADD COLUMN     "stops_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "renewals" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "consent_id" UUID,
    "former_consent_id" UUID,
    "state_hash" TEXT,
    "state_used_at" TIMESTAMPTZ(3),
    "return_url" TEXT,
    "authorisation_url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "next_look_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),

    CONSTRAINT "renewals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "withdrawals" (
    "id" UUID NOT NULL,
    "merchant_id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "consent_id" UUID NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "problem" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "withdrawals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "renewals_state_hash_key" ON "renewals"("state_hash");

-- CreateIndex
CREATE INDEX "renewals_connection_id_created_at_idx" ON "renewals"("connection_id", "created_at");

-- CreateIndex
CREATE INDEX "renewals_consent_id_idx" ON "renewals"("consent_id");

-- CreateIndex
CREATE INDEX "renewals_next_look_at_idx" ON "renewals"("next_look_at");

-- CreateIndex
CREATE UNIQUE INDEX "withdrawals_consent_id_key" ON "withdrawals"("consent_id");

-- CreateIndex
CREATE INDEX "withdrawals_next_attempt_at_idx" ON "withdrawals"("next_attempt_at");

-- CreateIndex
CREATE INDEX "connections_next_notice_at_idx" ON "connections"("next_notice_at");

-- CreateIndex
CREATE INDEX "connections_next_probe_at_idx" ON "connections"("next_probe_at");

-- CreateIndex
CREATE INDEX "connections_merchant_id_stops_at_id_idx" ON "connections"("merchant_id", "stops_at", "id");

-- AddForeignKey
ALTER TABLE "renewals" ADD CONSTRAINT "renewals_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Connections made before this know no clocks yet: the next probe reads them.
UPDATE "connections" SET "next_probe_at" = now() WHERE "status" IN ('active', 'needs-user');
