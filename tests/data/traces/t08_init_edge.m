Network n {
Layer A {
Type: CONV
Dimensions { K: 8, C: 6, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
SpatialMap(3,3) K;
TemporalMap(6,6) C;
TemporalMap(8,8) Y';
TemporalMap(7,7) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(1,P);
TemporalMap(1,1) K;
TemporalMap(1,1) C;
SpatialMap(3,3) Y';
TemporalMap(3,3) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
}
}
}
