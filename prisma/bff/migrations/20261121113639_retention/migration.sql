-- CreateIndex
CREATE INDEX "deletions_completed_at_idx" ON "deletions"("completed_at");

-- CreateIndex
CREATE INDEX "payment_records_created_at_idx" ON "payment_records"("created_at");

-- CreateIndex
CREATE INDEX "sync_runs_ended_at_idx" ON "sync_runs"("ended_at");

-- CreateIndex
CREATE INDEX "withdrawals_withdrawn_at_idx" ON "withdrawals"("withdrawn_at");
