Network n {
Layer A {
Type: CONV
Dimensions { K: 8, C: 6, Y: 10, X: 9, R: 3, S: 3 }
Dataflow {
SpatialMap(1,1) K;
TemporalMap(4,4) C;
TemporalMap(10,10) Y';
TemporalMap(9,9) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
Cluster(2,P);
TemporalMap(1,1) K;
SpatialMap(1,1) C;
TemporalMap(1,1) Y';
TemporalMap(1,1) X';
TemporalMap(3,3) R;
TemporalMap(3,3) S;
}
}
}
