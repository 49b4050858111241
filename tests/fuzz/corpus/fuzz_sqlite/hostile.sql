CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end, 59 AS eventType;
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end GENERATED ALWAYS AS (start + 1), globalTid, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 3);
CREATE VIRTUAL TABLE StringIds USING fts5(id, value);
PRAGMA writable_schema=ON;
UPDATE sqlite_master SET type = 'table' WHERE type = 'view';
